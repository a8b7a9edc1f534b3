import Testing

@testable import PipelineKit

@Suite struct SecretFileTests {
    @Test("A file is secret where only its owner can read it, or root gives it to this user")
    func rights() {
        #expect(SecretFile.isSecret(mode: 0o100600, owner: 1000, user: 1000))
        #expect(SecretFile.isSecret(mode: 0o100400, owner: 0, user: 0))
        #expect(!SecretFile.isSecret(mode: 0o100640, owner: 1000, user: 1000))
        #expect(!SecretFile.isSecret(mode: 0o100440, owner: 0, user: 0))
        #expect(!SecretFile.isSecret(mode: 0o100440, owner: 1001, user: 1000))
        // By a group, or as systemd gives credentials.
        #expect(SecretFile.isSecret(mode: 0o100640, owner: 0, user: 1000))
        #expect(SecretFile.isSecret(mode: 0o100440, owner: 0, user: 1000))
        #expect(!SecretFile.isSecret(mode: 0o100660, owner: 0, user: 1000))
        #expect(!SecretFile.isSecret(mode: 0o100644, owner: 0, user: 1000))
    }
}
