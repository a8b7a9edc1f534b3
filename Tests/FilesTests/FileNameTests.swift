import Files
import SystemPackage
import Testing

@Suite struct FileNameTests {
    @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b"])
    func refusesWhatNamesNothing(_ text: String) {
        #expect(FileName(text) == nil)
    }

    @Test(arguments: ["a", "...", "-rf", " ", "a\nb", ".hidden", "ä"])
    func takesEveryOtherText(_ text: String) throws {
        let name = try #require(FileName(text))
        #expect(name.utf8 == text)
        #expect(Array(text.utf8) == name.bytes)
    }

    @Test func keepsBytesThatAreNoText() throws {
        let name = try #require(FileName([0x56, 0xED, 0x63]))
        #expect(name.utf8 == nil)
        #expect(name.text == "V\\xEDc")
        #expect("\(name)" == "V\\xEDc")
        #expect(FileName(try #require(FilePath().appending(name).lastComponent)) == name)
        #expect(name.withCString { FileName(cString: $0) } == name)
    }

    @Test func readdirsOwnEntriesAreNoNames() {
        #expect(".".withCString { FileName(cString: $0) } == nil)
        #expect("..".withCString { FileName(cString: $0) } == nil)
    }

    @Test(arguments: [
        ("report.pdf", "report", "pdf"),
        ("a.tar.gz", "a", "tar.gz"),
        ("a.b.TAR.Zst", "a.b", "TAR.Zst"),
        ("a.cpio.xz", "a", "cpio.xz"),
        ("report.csv.gz", "report.csv", "gz"),
        ("tar.gz", "tar", "gz"),
        ("a.tgz", "a", "tgz"),
        ("noextension", "noextension", ""),
        ("trailing.", "trailing.", ""),
        (".bashrc", ".bashrc", ""),
        (".tar.gz", ".tar", "gz"),
        ("a..b", "a.", "b"),
        ("...txt", "..", "txt"),
        ("V\u{ED}c.txt", "V\u{ED}c", "txt"),
    ])
    func splitsIntoStemAndExtension(_ text: String, _ stem: String, _ ending: String) throws {
        let name = try #require(FileName(text))
        #expect(String(decoding: name.stem, as: UTF8.self) == stem)
        #expect(String(decoding: name.extension, as: UTF8.self) == ending)
    }

    @Test(arguments: [
        ("report.pdf", 2, "report.2.pdf"),
        ("a.tar.gz", 3, "a.3.tar.gz"),
        ("noextension", 10, "noextension.10"),
        ("a.", 2, "a..2"),
    ])
    func standsAsideByNumber(_ text: String, _ number: Int, _ expected: String) throws {
        #expect(try #require(FileName(text)).numbered(number).utf8 == expected)
    }

    @Test func aFolderStandsAsideWithItsWholeName() throws {
        #expect(try #require(FileName("photos.2026")).numbered(2, isFolder: true).utf8 == "photos.2026.2")
    }

    @Test(arguments: [
        String(repeating: "x", count: 255),
        String(repeating: "x", count: 251) + ".pdf",
        "x." + String(repeating: "e", count: 253),
        String(repeating: "ä", count: 127),
    ])
    func longNamesStayWithinTheLimitAndApart(_ text: String) throws {
        let name = try #require(FileName(text))
        let numbered = (2...1200).map { name.numbered($0) }
        #expect(numbered.allSatisfy { $0.bytes.count <= FileName.longest })
        #expect(Set(numbered).count == numbered.count)
        let beside = [name.appending(".sha256", unique: "J1"), name.appending(".sha256", unique: "J2")]
        #expect(beside.allSatisfy { $0.bytes.count <= FileName.longest && $0.utf8?.hasSuffix(".sha256") == true })
        #expect(Set(beside).count == 2)
    }

    @Test func cuttingKeepsLettersWhole() throws {
        let name = try #require(FileName(String(repeating: "ä", count: 127) + "."))
        #expect(name.numbered(2).utf8 != nil)
        #expect(name.appending(".error.json", unique: "0").utf8 != nil)
    }

    @Test func cuttingBytesThatAreNoTextKeepsMostOfThem() throws {
        let name = try #require(FileName([UInt8](repeating: 0x80, count: 255)))
        #expect(name.numbered(2).bytes.count == 255)
        #expect(name.appending(".sha256", unique: "J").bytes.count == 255)
    }

    @Test func shortNamesKeepTheirOwnWhenSomethingIsAppended() throws {
        let fits = try #require(FileName(String(repeating: "x", count: 248)))
        #expect(fits.appending(".sha256", unique: "J").utf8 == String(repeating: "x", count: 248) + ".sha256")
    }

    @Test func ordersByBytes() throws {
        let names = try ["B", "a", "ä", "Z", "a.b", "a-b"].map { try #require(FileName($0)) }
        #expect(names.sorted().map(\.utf8) == ["B", "Z", "a", "a-b", "a.b", "ä"])
        let odd = try #require(FileName([0xED]))
        #expect(try #require(FileName("ä")) < odd)
    }
}
