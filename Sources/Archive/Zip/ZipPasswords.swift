/// Which of a list of passwords opens an encrypted zip.
enum ZipPasswords {
    /// The passwords to give to libarchive, the right one first. The old encryption takes one wrong password in 256 for
    /// right until the checksum comes, so each is tried on the smallest encrypted entry, as far as that.
    static func fitting(
        _ input: ArchiveInput, _ directory: ZipDirectory, _ policy: UnpackPolicy, _ budget: Budget
    ) throws(ArchiveError) -> [[UInt8]] {
        let encrypted = directory.entries.filter { $0.isEncrypted && $0.size > 0 }
        guard let smallest = encrypted.min(by: { $0.size < $1.size }) else { return policy.passwords }
        guard !policy.passwords.isEmpty else { throw .encrypted(smallest.name) }
        for password in policy.passwords {
            switch try trial(of: password, on: smallest, input, policy, budget) {
            case .opens: return [password] + policy.passwords.filter { $0 != password }
            // AES knows a wrong password from damage; what the old encryption takes for right gives anything.
            case .swells where smallest.method == .aes: throw .damaged(smallest.name)
            case .swells, .fails: continue
            }
        }
        throw .encrypted(smallest.name, passwords: policy.passwords.count)
    }

    enum Trial {
        case opens
        case fails
        /// More comes out than the directory says: that is not so, or nothing of what comes out is.
        case swells
    }

    static func trial(
        of password: [UInt8], on wanted: ZipEntry, _ input: ArchiveInput, _ policy: UnpackPolicy, _ budget: Budget
    ) throws(ArchiveError) -> Trial {
        _ = input.seek(to: 0)
        var reader = try ArchiveReader.open(input, .zip, policy, passwords: [password])
        while let entry = try reader.next() {
            guard entry.path == wanted.name else { continue }
            do throws(ArchiveError) {
                var length: Int64 = 0
                while case .data(let block, _) = try reader.nextBlock() {
                    try budget.checkStopped()
                    length += Int64(block.count)
                    // Not further: a few bytes may swell to anything.
                    if length > Int64(wanted.size) { return .swells }
                }
                return .opens
            } catch {
                guard case .bad(let problem) = error else { throw error }
                // The old encryption often learns only by the checksum.
                if problem.code != .encrypted, wanted.method == .aes { throw error }
                return .fails
            }
        }
        return .fails
    }
}
