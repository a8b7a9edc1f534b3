import CYaml

/// What reads YAML, for people.
package enum YAMLLibrary {
    /// `0.2.5`: of the library that this process runs with.
    package static var version: String { String(cString: yaml_get_version_string()) }
}
