import PipelineKit
import Testing

@Suite struct RetryPolicyTests {
    @Test(
        arguments: [
            (1, 2.0), (2, 4.0), (3, 8.0), (4, 10.0), (5, 10.0), (6, nil), (100, nil),
        ] as [(Int, Double?)])
    func doublesUpToItsLimit(_ failures: Int, _ seconds: Double?) {
        let policy = RetryPolicy(attempts: 6, backoff: .seconds(2), maxBackoff: .seconds(10))
        #expect(policy.delay(afterFailures: failures, jitter: 0)?.seconds == seconds)
    }

    /// No less than was asked for, no more than the longest wait.
    @Test(
        arguments: [
            (1, 0.0, 2.0), (3, 0.0, 3.0), (3, 1.0, 3.75), (9, 0.0, 9.0), (9, 1.0, 10.0), (11, 0.0, 10.0),
            (3_000_000_000, 1.0, 10.0),
        ] as [(Int64, Double, Double)])
    func waitsAsLongAsIsAsked(_ seconds: Int64, _ jitter: Double, _ wait: Double) {
        let policy = RetryPolicy(attempts: 2, backoff: .seconds(2), maxBackoff: .seconds(10))
        #expect(policy.delay(afterFailures: 1, jitter: jitter, asked: .seconds(seconds))?.seconds == wait)
        #expect(policy.delay(afterFailures: 2, jitter: jitter, asked: .seconds(seconds)) == nil)
    }

    @Test(arguments: [(0.0, 4.0), (0.5, 3.5), (1.0, 3.0), (7.0, 3.0), (-1.0, 4.0)])
    func jitterTakesUpToAQuarterOff(_ jitter: Double, _ seconds: Double) {
        let policy = RetryPolicy(attempts: 9, backoff: .seconds(4), maxBackoff: .seconds(10))
        #expect(policy.delay(afterFailures: 1, jitter: jitter)?.seconds == seconds)
    }

    @Test func oneAttemptIsNeverRepeated() {
        #expect(RetryPolicy(attempts: 1).delay(afterFailures: 1, jitter: 0) == nil)
    }

    @Test func manyFailuresDoNotOverflow() {
        let policy = RetryPolicy(attempts: .max, backoff: .seconds(86400), maxBackoff: .seconds(3_000_000_000))
        #expect(policy.delay(afterFailures: 5000, jitter: 0) == .seconds(3_000_000_000))
    }
}
