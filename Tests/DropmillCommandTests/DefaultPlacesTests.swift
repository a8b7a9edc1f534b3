import SystemPackage
import Testing

@testable import DropmillCommand

/// Which files and which state are meant if nobody says so.
struct DefaultPlacesTests {
    private func places(
        _ there: FilePath..., hasPipelines: Bool = false, state: String? = nil
    ) -> [FilePath] {
        let places = DefaultPlaces(hasPipelines: hasPipelines, state: state) { there.contains($0) }
        return [places.pipelines, places.state]
    }

    @Test func whatIsHereComesBeforeWhatIsInstalled() {
        #expect(places() == ["pipelines", ".dropmill-state"])
        #expect(places("pipelines") == ["pipelines", ".dropmill-state"])
        #expect(places("pipelines", "/etc/dropmill/pipelines") == ["pipelines", ".dropmill-state"])
        #expect(places("/etc/dropmill/pipelines") == ["/etc/dropmill/pipelines", "/var/lib/dropmill"])
        #expect(places("/etc/dropmill/pipelines", ".dropmill-state").last == ".dropmill-state")
    }

    @Test func whatIsSaidComesFirst() {
        #expect(places("pipelines", state: "/srv/state").last == "/srv/state")
        #expect(places("/etc/dropmill/pipelines", state: "/srv/state").last == "/srv/state")
        #expect(places("/etc/dropmill/pipelines", state: "").last == "/var/lib/dropmill")
    }

    @Test func pipelinesOfSomebodysOwnDoNotUseTheStateOfTheService() {
        #expect(places("/etc/dropmill/pipelines", hasPipelines: true).last == ".dropmill-state")
    }
}
