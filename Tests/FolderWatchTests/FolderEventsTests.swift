import FolderWatch
import Testing

@Suite struct FolderEventsTests {
    @Test(arguments: SystemEvents.Kind.allCases)
    func opens(_ kind: SystemEvents.Kind) {
        let events = SystemEvents.open(kind)
        #expect((events.lack == nil) == (kind != .none))
        events.stop()
    }
}
