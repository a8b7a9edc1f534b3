/// Waits until a condition holds: the one way in which a test may wait. Returns false once the time is over, so that
/// `#expect(await eventually { … })` fails at its own line. That time is for a machine on which all else runs too: only
/// a test that fails takes it.
package nonisolated(nonsending) func eventually(
    within limit: Duration = .seconds(60), _ condition: nonisolated(nonsending) () async throws -> Bool
) async rethrows -> Bool {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while true {
        if try await condition() { return true }
        if clock.now >= deadline { return false }
        do {
            // The pause between two looks; nothing depends on its length.
            try await clock.sleep(for: .milliseconds(10))
        } catch {
            return try await condition()
        }
    }
}
