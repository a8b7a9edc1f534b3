import CLinux
import Glibc
import Testing

@testable import Archive

/// Libraries that are loaded when they are needed.
@Suite struct LoadedLibraryTests {
    /// The linker's words for what is wrong; nil for nothing.
    private func load(_ soname: String, _ names: [String], into calls: inout [UnsafeRawPointer?]) -> String? {
        let strings = names.map { strdup($0) }
        defer { for string in strings { free(string) } }
        let pointers = strings.map { UnsafePointer($0) }
        return dm_load_library(soname, pointers, pointers.count, &calls).map { String(cString: $0) }
    }

    @Test func callsGoToTheirPlaces() {
        var calls: [UnsafeRawPointer?] = [nil, nil]
        #expect(load("libm.so.6", ["cos", "sin"], into: &calls) == nil)
        #expect(calls[0] != nil && calls[1] != nil && calls[0] != calls[1])
        #expect(libarchive.archive_read_new != nil && libarchive.archive_entry_symlink != nil)
    }

    @Test func whatIsMissingIsNamed() throws {
        var calls: [UnsafeRawPointer?] = [nil, nil]
        #expect(try #require(load("libnowhere.so.7", ["cos"], into: &calls)).contains("libnowhere.so.7"))
        #expect(try #require(load("libm.so.6", ["cos", "dm_no_such_call"], into: &calls)).contains("dm_no_such_call"))
    }
}
