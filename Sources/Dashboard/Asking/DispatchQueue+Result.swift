@preconcurrency import Dispatch

extension DispatchQueue {
    /// Does something there that blocks.
    func result<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { continuation in
            async { @Sendable in continuation.resume(returning: Result { () throws(Failure) in try body() }) }
        }
    }
}
