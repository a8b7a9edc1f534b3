/// One that watches folders.
package struct Subscriber: Hashable, Sendable {
    let number: Int
    let isSharing: Bool
}
