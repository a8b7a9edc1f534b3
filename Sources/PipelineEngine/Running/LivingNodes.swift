import Files
import Synchronization

/// The nodes that share a journal and are alive, as they were last seen. Each drop is one node's before others take it,
/// so that they do not all reach for the same: who loses has made a folder for nothing. All come to the same without
/// asking each other (rendezvous hashing); who has nothing else to do takes what is another's.
final class LivingNodes: Sendable {
    private struct State {
        /// The hashes of all, and this one's.
        var all: [UInt64] = []
        var own: UInt64 = 0
        /// How often they changed.
        var changes = 0
    }

    private let state = Mutex(State())

    /// They are these, by their incarnations.
    func note(_ incarnations: some Sequence<String>, own: String) {
        let all = incarnations.map { Self.hash($0.utf8) }.sorted()
        state.withLock { state in
            if state.all != all { state.changes += 1 }
            (state.all, state.own) = (all, Self.hash(own.utf8))
        }
    }

    /// How often they changed since the start.
    var changes: Int { state.withLock(\.changes) }

    /// Whether a drop is this node's first; all are where nothing is known of others.
    func isOwn(_ path: DropPath) -> Bool {
        state.withLock { state in
            guard state.all.count > 1 else { return true }
            let drop = Self.hash(path.bytes)
            let own = Self.mixed(drop ^ state.own)
            return state.all.allSatisfy { $0 == state.own || Self.mixed(drop ^ $0) <= own }
        }
    }

    /// FNV-1a, which is the same everywhere.
    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// The last steps of MurmurHash3: near numbers come out far from each other.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        for factor: UInt64 in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] { mixed = (mixed ^ mixed >> 33) &* factor }
        return mixed ^ mixed >> 33
    }
}
