import Dispatch
import Files
import Synchronization
import SystemPackage
import TestTools
import Testing

/// Who looks at places that may not answer.
@Suite(.timeLimit(.minutes(5))) struct LookoutTests {
    private let lookout = Lookout(label: "lookout")

    private func look(
        at places: FilePath..., until deadline: DispatchTime = .now() + 60, gate: DispatchSemaphore? = nil,
        unwanted: @escaping @Sendable (Int) -> Void = { @Sendable _ in }
    ) -> Lookout.Outcome<Int> {
        lookout.attempt(until: deadline) { mayLook in
            let count = places.count { mayLook($0) }
            gate?.wait()
            return mayLook("/late") ? count : -count
        } unwanted: {
            unwanted($0)
        }
    }

    private func silent(_ outcome: Lookout.Outcome<Int>) -> FilePath? {
        if case .silent(let place) = outcome { place } else { nil }
    }

    private func value(_ outcome: Lookout.Outcome<Int>) -> Int? {
        if case .over(let value) = outcome { value } else { nil }
    }

    @Test("What answers in time is over") func answers() {
        #expect(value(look(at: "/a", "/b")) == 2)
    }

    @Test("What does not is named, ends there, and is nobody's any more; all else goes on")
    func doesNot() async {
        let gate = DispatchSemaphore(value: 0)
        let late = Mutex<[Int]>([])
        let first = look(at: "/a", "/b", until: .now() + 0.1, gate: gate) { value in late.withLock { $0.append(value) }
        }
        #expect(silent(first) == "/b")
        #expect(value(look(at: "/a", "/c")) == 2)
        #expect(late.withLock { $0 } == [])
        gate.signal()
        #expect(await eventually { late.withLock { $0 } == [-2] })
    }

    @Test("Who looks at much may take his time; one look may not") func resting() {
        // Each look takes less than a third of what one may, all of them more than that.
        let much = lookout.attempt(resting: 5) { mayLook in
            (0..<4).count { number in
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1.5)
                return mayLook(FilePath("/\(number)"))
            }
        }
        #expect(value(much) == 4)
        let gate = DispatchSemaphore(value: 0)
        let stuck = lookout.attempt(resting: 2) { mayLook in
            _ = mayLook("/a") && mayLook("/b")
            gate.wait()
            return 0
        }
        #expect(silent(stuck) == "/b")
        gate.signal()
    }

    @Test("As long as it does not come back nobody else looks there") func avoided() async {
        let gate = DispatchSemaphore(value: 0)
        let avoided = Mutex<[Int]>([])
        #expect(silent(look(at: "/a", until: .now() + 0.1, gate: gate)) == "/a")
        let second = look(at: "/b", "/a", "/c") { value in avoided.withLock { $0.append(value) } }
        #expect(silent(second) == "/a")
        #expect(await eventually { avoided.withLock { $0 } == [-1] })
        gate.signal()
        #expect(await eventually { value(look(at: "/b", "/a", "/c")) == 3 })
    }
}
