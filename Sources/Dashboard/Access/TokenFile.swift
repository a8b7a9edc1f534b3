import Files
import FoundationEssentials
import Glibc
import PipelineKit
package import SystemPackage

/// The tokens that were given out, in a file of their own, which only its owner may read.
package struct TokenFile: Sendable {
    package static let name: FilePath = "tokens.json"
    private static let draft: FilePath = ".tokens.json.new"
    /// The most bytes that are read of it.
    private static let largest = 1 << 20

    package let folder: FilePath
    private var path: FilePath { folder.pushing(Self.name) }

    /// `folder`: where it is, or will be.
    package init(in folder: FilePath) { self.folder = folder }

    /// Whether any were given out, and be they revoked.
    package var isThere: Bool { FileStatus.of(path) != nil }

    /// All of them; none where there is no file.
    package func read() throws(TokenError) -> [Token] { try tokens(in: try bytes()) }

    /// Whether its folder is.
    package var hasFolder: Bool { FileStatus.of(folder, followingLinks: true) != nil }

    /// What is in the file; nothing where there is none.
    func bytes() throws(TokenError) -> [UInt8] {
        guard let status = FileStatus.of(path) else {
            let error = Errno.last
            if [.noSuchFileOrDirectory, .notDirectory].contains(error) { return [] }
            throw TokenError(
                "the tokens in '\(folder.text)' cannot be read: \(error); be root or the server's user, or name "
                    + "another folder with --token-dir")
        }
        guard status.st_mode & 0o077 == 0 else { throw Self.isOpen(path) }
        do throws(IOError) {
            return try SmallFile.read(path, atMost: Self.largest)
        } catch {
            throw TokenError("the tokens cannot be read: \(error); be root or the server's user")
        }
    }

    func tokens(in bytes: [UInt8]) throws(TokenError) -> [Token] {
        guard !bytes.isEmpty else { return [] }
        do {
            return try JSONDecoder().decode([Token].self, from: Data(bytes))
        } catch {
            throw TokenError("'\(path.text)' is no list of tokens; remove it, and give out other ones")
        }
    }

    /// Changes them, one program after the other.
    package func change<Result>(
        _ body: (inout [Token]) throws(TokenError) -> Result
    ) throws(TokenError) -> Result {
        let place = try opened()
        let lock = try locked(place)
        var tokens = try read()
        let result = try body(&tokens)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let bytes = try Array(encoder.encode(tokens)) + [UInt8(ascii: "\n")]
            try place.remove(Self.draft)
            // Root gives tokens out for the server's user, whose folder it is.
            let owner = try geteuid() == 0 ? lock.status().st_uid : nil
            try SmallFile.write(bytes, to: Self.name, in: place, by: Self.draft, mode: 0o600, owner: owner)
            try lock.sync()
        } catch {
            throw TokenError("the tokens cannot be written: \(error)")
        }
        return result
    }

    private func opened() throws(TokenError) -> Folder {
        do throws(IOError) {
            try Folder.makeOwn(folder, mode: 0o700)
            return try Folder.open(folder)
        } catch {
            throw TokenError("the folder of the tokens cannot be used: \(error)")
        }
    }

    /// Held until it is closed.
    private func locked(_ place: borrowing Folder) throws(TokenError) -> OpenFile {
        do throws(IOError) {
            let lock = try place.open(".", O_RDONLY | O_DIRECTORY)
            guard flock(lock.descriptor, LOCK_EX) == 0 else { throw IOError("lock", folder, .last) }
            return lock
        } catch {
            throw TokenError("the folder of the tokens cannot be used: \(error)")
        }
    }

    static func isOpen(_ path: FilePath) -> TokenError {
        TokenError(
            "'\(path.text)' is not its owner's alone; give out another token, and keep it with 'chmod 600 "
                + "\(path.text)'")
    }
}
