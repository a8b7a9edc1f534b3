/// A dead man's switch elsewhere, which is told again and again that the daemon is there: an entry of `notify`.
package struct NotifyPing: Sendable, Equatable {
    /// How often, unless another time is given.
    package static let usual = Duration.seconds(300)

    /// Its place in the file, counted from 1.
    package let number: Int
    /// Where a request goes that says that all is well; what is not goes to `/fail` below it.
    package let url: SecretText
    package let every: Duration
    package let insecure: Bool

    package init(number: Int, url: SecretText, every: Duration = usual, insecure: Bool = false) {
        (self.number, self.url, self.every, self.insecure) = (number, url, every, insecure)
    }

    /// `ping https://hc.example/…`: nothing of it is a secret.
    package var shown: String { "ping \(NotifyTarget.shown(url.source))" }
}
