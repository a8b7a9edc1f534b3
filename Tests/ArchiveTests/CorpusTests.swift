import Files
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// What was found once: by fuzzing (`make fuzz`), or by people. Each file of `Tests/fuzz/corpus` is refused, and does
/// no harm.
@Suite struct CorpusTests {
    private static let folder = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .appending("fuzz").appending("corpus")

    @Test func eachIsRefused() throws {
        let names = try Folder.names(in: Self.folder).filter { !$0.isHidden }.sorted()
        #expect(!names.isEmpty)
        for name in names {
            let bytes = try ScratchFolder.read(Self.folder.appending(name))
            for nested in [0, 3] {
                let extraction = try Extraction()
                var policy = Extraction.policy
                policy.nested = nested
                policy.limits.bytes = 64 << 20
                policy.passwords = [Array("p".utf8)]
                #expect(try extraction.problem(bytes, policy) != nil, "\(name)")
                #expect(try extraction.outside().isEmpty, "\(name)")
            }
        }
    }
}
