import Testing

@testable import PipelineKit

/// What is shown of where messages go.
@Suite struct NotifyTargetTests {
    @Test(arguments: [
        ("https://ntfy.example/press", "https://ntfy.example/…"), ("https://ntfy.example/", "https://ntfy.example/"),
        ("https://ntfy.example", "https://ntfy.example"), ("https://ntfy.example?a=b", "https://ntfy.example?…"),
        ("https://user:pass@ntfy.example/press", "https://•••@ntfy.example/…"),
        ("${env:TOPIC}", "${env:TOPIC}"), ("${file:/etc/dropmill/hc}", "${file:/etc/dropmill/hc}"),
        ("https://ntfy.sh/my-topic?auth=${env:T}", "https://ntfy.sh/…"),
        ("https://ntfy.sh/my-topic/${file:/etc/hc}", "https://ntfy.sh/…"),
        ("https://${env:HOST}/my-topic", "https://${env:HOST}/…"),
        ("https://${file:/etc/host?}:80/my-topic", "https://${file:/etc/host?}:80/…"),
        ("${file:/etc/dropmill/base}/my-topic", "${file:/etc/dropmill/base}/…"),
        ("${env:SCHEME}://ntfy.sh/my-topic", "${env:SCHEME}://ntfy.sh/…"),
        ("${file:/etc/a://b}/my-topic", "${file:/etc/a://b}/…"),
        ("https://user:pass@${env:HOST}/my-topic", "https://•••@${env:HOST}/…"),
    ])
    func topicsAndKeysAreNotShown(url: String, shown: String) { #expect(NotifyTarget.shown(url) == shown) }
}
