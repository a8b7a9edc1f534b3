import Files
import Testing

@testable import Journal

/// What an older Dropmill wrote into the journal is read as it was meant.
@Suite struct OlderPayloadTests {
    @Test(
        "Sidecars that were lines of checksum lists",
        arguments: [
            (#"{"checksum":"00ff"}"#, "00ff  a.2.txt\n", "\\00ff  a\\nb\n"),
            (#"{"tag":"MD5","checksum":"00ff"}"#, "MD5 (a.2.txt) = 00ff\n", "\\MD5 (a\\nb) = 00ff\n"),
            (#"{"name":true}," 352441C2\n""#, "a.2.txt 352441C2\n", "a\nb 352441C2\n"),
            (
                ##""{\"files\":[{",{"path":true},",\"md5\":\"00\"}]}""##, #"{"files":[{"path":"a.2.txt","md5":"00"}]}"#,
                #"{"files":[{"path":"a\nb","md5":"00"}]}"#
            ),
        ])
    func sidecars(_ parts: String, _ text: String, _ odd: String) throws {
        let sidecars = #""companions":[{"suffix":".x","parts":[\#(parts)]}]"#
        let json = """
            {"root":"/work/1","file":"a.txt","drop":true,\(sidecars),"copies":[{"path":"/work/1/.copy/a.txt",\
            "source":"/work/1/a.txt","folder":false,\(sidecars),"destination":"/out"}]}
            """
        let payload = try #require(JSONValue(json)?.payload)
        #expect(payload.path == "/work/1/a.txt")
        #expect(payload.copies.map(\.sidecars) == [payload.sidecars])
        let sidecar = try #require(payload.sidecars.first)
        #expect(sidecar.suffix == ".x")
        for (name, text) in [("a.2.txt", text), ("a\nb", odd)] {
            let contents = sidecar.contents(for: try #require(FileName(name)))
            #expect(String(decoding: contents, as: UTF8.self) == text)
        }
    }

    @Test("What goes beside an output")
    func intent() throws {
        let json = #"{"role":"companion","source":"/w/c","target":"/out/a.sha256","device":1,"inode":2}"#
        #expect(try #require(JSONValue(json)?.intent).role == .sidecar)
    }
}
