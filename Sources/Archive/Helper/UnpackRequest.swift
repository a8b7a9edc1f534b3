import Helpers

/// What a helper is to do: one archive. The archive itself and the folder come as descriptors beside it.
package struct UnpackRequest: Sendable, Equatable {
    /// What the archive is, by a look at its first bytes.
    package var format: ArchiveFormat
    /// What one compressed file becomes.
    package var alone: Unpacking.LoneFile
    /// What may come out.
    package var policy: UnpackPolicy
    /// Whether to do nothing where the kernel cannot confine the helper to the folder.
    package var requiresSandbox: Bool
    /// The most seconds of computing, of all threads together.
    package var cpuSeconds: Int64

    package init(
        format: ArchiveFormat, alone: Unpacking.LoneFile, policy: UnpackPolicy, requiresSandbox: Bool = false,
        cpuSeconds: Int64
    ) {
        self.format = format
        self.alone = alone
        self.policy = policy
        self.requiresSandbox = requiresSandbox
        self.cpuSeconds = cpuSeconds
    }

    static let mostBytes = 128 << 10

    var packet: [UInt8] {
        var writer = WireWriter()
        writer.put(format.wireName)
        writer.put(alone.name)
        writer.put(alone.modified.seconds)
        writer.put(alone.modified.nanoseconds)
        writer.put(requiresSandbox)
        writer.put(cpuSeconds)
        let limits = policy.limits
        let numbers = [
            limits.bytes, limits.entry ?? -1, limits.ratio, limits.ratioGrace, limits.entries, Int64(limits.name),
            Int64(limits.path), Int64(limits.depth), Int64(policy.mode), Int64(policy.nested), Int64(policy.workers),
            limits.space, limits.files, limits.reserve,
        ]
        for number in numbers { writer.put(number) }
        for flag in [
            policy.keepsExecutable, policy.takesDocuments, policy.requiresIntegrity, policy.isSyncedSoon,
        ] {
            writer.put(flag)
        }
        for word in [
            policy.links.rawValue, policy.uniqueNames.rawValue, policy.tarEnd.rawValue, policy.duplicates.rawValue,
            policy.nameEncoding.rawValue,
        ] {
            writer.put(word)
        }
        writer.put(policy.formats.map(\.wireName).joined(separator: " "))
        writer.put(Int64(policy.passwords.count))
        for password in policy.passwords { writer.put(password) }
        return writer.bytes
    }

    init?(packet: some Sequence<UInt8>) {
        var reader = WireReader(packet)
        guard let format = reader.text().flatMap({ ArchiveFormat(wireName: $0) }), let name = reader.array(),
            let seconds = reader.number(), let nanoseconds = reader.number(), let requiresSandbox = reader.flag(),
            let cpuSeconds = reader.number(), let policy = UnpackPolicy(&reader), reader.isAtEnd
        else { return nil }
        self.init(
            format: format, alone: Unpacking.LoneFile(name: name, modified: (seconds, nanoseconds)), policy: policy,
            requiresSandbox: requiresSandbox, cpuSeconds: cpuSeconds)
    }
}

extension UnpackPolicy {
    fileprivate init?(_ reader: inout WireReader) {
        self.init()
        var numbers: [Int64] = []
        for _ in 0..<14 {
            guard let number = reader.number() else { return nil }
            numbers.append(number)
        }
        (limits.bytes, limits.entry) = (numbers[0], numbers[1] < 0 ? nil : numbers[1])
        (limits.ratio, limits.ratioGrace, limits.entries) = (max(1, numbers[2]), numbers[3], numbers[4])
        (limits.name, limits.path, limits.depth) = (Int(numbers[5]), Int(numbers[6]), Int(numbers[7]))
        mode = UInt32(truncatingIfNeeded: numbers[8])
        (nested, workers) = (Int(numbers[9]), Int(numbers[10]))
        (limits.space, limits.files, limits.reserve) = (numbers[11], numbers[12], numbers[13])
        guard let keepsExecutable = reader.flag(),
            let takesDocuments = reader.flag(), let requiresIntegrity = reader.flag(),
            let isSyncedSoon = reader.flag(), let links = reader.word(Links.self),
            let uniqueNames = reader.word(UniqueNames.self), let tarEnd = reader.word(TarEnd.self),
            let duplicates = reader.word(Duplicates.self),
            let nameEncoding = reader.word(NameEncoding.self), let names = reader.text(), let count = reader.int()
        else { return nil }
        (self.keepsExecutable, self.takesDocuments) = (keepsExecutable, takesDocuments)
        (self.requiresIntegrity, self.isSyncedSoon) = (requiresIntegrity, isSyncedSoon)
        (self.links, self.uniqueNames, self.nameEncoding) = (links, uniqueNames, nameEncoding)
        (self.tarEnd, self.duplicates) = (tarEnd, duplicates)
        formats = Set(names.split(separator: " ").compactMap { ArchiveFormat(wireName: String($0)) })
        for _ in 0..<count {
            guard let password = reader.array() else { return nil }
            passwords.append(password)
        }
    }
}
