/// Takes failed jobs that nobody will retry out of the count of failures, as `SendingVerb` then tells. No file is
/// touched.
package enum DismissVerb: ControlVerb {
    package static let name = "dismiss"
    package static let isChange = true

    package typealias Arguments = SendingOrder
    package typealias Answer = SendingVerb.Answer
}
