/// What a settled job can count on.
package enum Durability: String, Sendable, CaseIterable {
    /// Outputs and renames are on disk.
    case full
    /// They are in the kernel's hands; a power cut may lose them.
    case fast
}
