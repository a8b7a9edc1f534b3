import Testing

@testable import DropmillCommand

/// What a service manager is told that has read nothing for long.
@Suite struct ServiceBacklogTests {
    private func texts(_ messages: [ServiceBacklog.Message]) -> [String] {
        var backlog = ServiceBacklog()
        for message in messages { backlog.add(message) }
        return backlog.messages.map(\.text)
    }

    @Test func theStepsStayInTurnHoweverManyReloadsThereAre() {
        let reloads = (1...9).flatMap { [ServiceBacklog.Message.reloading("RELOADING \($0)"), .step("READY")] }
        #expect(texts([.step("READY")] + reloads) == ["READY", "RELOADING 9", "READY"])
        #expect(texts(reloads) == ["RELOADING 9", "READY"])
        #expect(texts([.step("READY")] + reloads + [.reloading("RELOADING 10")]) == ["READY", "RELOADING 10"])
    }

    @Test func theNewestStatusAndTheStopAreWhatCounts() {
        #expect(texts([.status("1"), .step("READY"), .status("2")]) == ["READY", "2"])
        #expect(texts([.step("READY"), .status("1"), .last("STOPPING")]) == ["STOPPING"])
        var backlog = ServiceBacklog()
        for message in [ServiceBacklog.Message.sign("alive"), .step("READY"), .sign("alive")] { backlog.add(message) }
        backlog.removeSigns()
        #expect(backlog.messages == [.step("READY")])
    }
}
