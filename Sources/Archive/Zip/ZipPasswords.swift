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
        for password in policy.passwords where try opens(input, smallest, password, policy, budget) {
            return [password] + policy.passwords.filter { $0 != password }
        }
        throw .encrypted(smallest.name, passwords: policy.passwords.count)
    }

    private static func opens(
        _ input: ArchiveInput, _ wanted: ZipEntry, _ password: [UInt8], _ policy: UnpackPolicy, _ budget: Budget
    ) throws(ArchiveError) -> Bool {
        _ = input.seek(to: 0)
        var reader = try ArchiveReader.open(input, .zip, policy, passwords: [password])
        while let entry = try reader.next() {
            guard entry.path == wanted.name else { continue }
            do throws(ArchiveError) {
                var length: Int64 = 0
                while case .data(let block, _) = try reader.nextBlock() {
                    try budget.checkStopped()
                    length += Int64(block.count)
                    // What the directory says of it is not so, or nothing of it is: a few bytes may swell to anything.
                    guard length <= Int64(wanted.size) else { throw .damaged(wanted.name) }
                }
                return true
            } catch {
                guard case .bad(let problem) = error else { throw error }
                // AES knows a wrong password from damage; the old encryption often learns only by the checksum.
                if problem.code != .encrypted, wanted.method == .aes { throw error }
                return false
            }
        }
        return false
    }
}
