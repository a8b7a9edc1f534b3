import CLinux
@preconcurrency import Dispatch

/// What only the start of the daemon needed: reading its arguments and pipelines, relocating, opening the journal. More
/// than half of what an idle daemon would keep resident.
enum StartMemory {
    /// When it is given back: the first drops that lay there already do not pay for what they use anyway.
    private static let delay = DispatchTimeInterval.seconds(1)

    /// Gives it back once the start is over.
    static func giveBackSoon() {
        DispatchQueue(label: "dropmill.memory").asyncAfter(deadline: .now() + delay) { @Sendable in giveBack() }
    }

    /// Gives it back now.
    static func giveBack() { dm_release_start_memory() }
}
