/// What is said of a removal.
enum PruneText {
    static func originals(_ count: Int) -> String { count == 1 ? "1 original" : "\(count) originals" }

    /// Of those that stay; nil where there are none.
    static func kept(changed: Int, linked: Int) -> String? {
        var parts: [String] = []
        if changed > 0 { parts.append("\(changed) \(changed == 1 ? "is" : "are") not as we left them") }
        if linked > 0 { parts.append("\(linked) \(linked == 1 ? "has" : "have") other names, too") }
        return parts.isEmpty ? nil : "kept: \(parts.joined(separator: ", "))"
    }
}
