import Testing

@testable import PipelineKit

@Suite struct MaskingTests {
    private func masked(_ text: String, _ secrets: [String], cut: (Bool, Bool) = (false, false)) -> String {
        String(
            decoding: Masking.masked(
                Array(text.utf8), secrets.map { Array($0.utf8) }, beginsWithin: cut.0, endsWithin: cut.1),
            as: UTF8.self)
    }

    @Test(arguments: [
        ("a s3cr3t here", "a ••• here"), ("s3cr3ts3cr3t", "••••••"), ("S3CR3T", "S3CR3T"), ("", ""),
        // A combining mark makes another character of the last letter, and no other secret of it.
        ("s3cr3t\u{301}!", "•••\u{301}!"), ("s3cr3t-long", "•••"),
    ])
    func secretsAreHidden(text: String, expected: String) {
        #expect(masked(text, ["s3cr3t", "s3cr3t-long", "abc"]) == expected)
    }

    @Test func shortSecretsHideNothing() { #expect(masked("abc", ["abc"]) == "abc") }

    @Test func aPieceMayBeginOrEndWithinASecret() {
        #expect(masked("r3t here", ["s3cr3t"], cut: (true, false)) == "••• here")
        #expect(masked("here s3c", ["s3cr3t"], cut: (false, true)) == "here •••")
        #expect(masked("here s3c", ["s3cr3t"]) == "here s3c")
        #expect(masked("cr3t s3cr", ["s3cr3t"], cut: (true, true)) == "••• •••")
    }
}
