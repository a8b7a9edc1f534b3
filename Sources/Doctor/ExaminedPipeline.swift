import SystemPackage

/// A pipeline's folders.
package struct ExaminedPipeline: Sendable {
    /// Its name.
    package let name: String
    /// Its folders, in the order in which a drop passes them.
    package internal(set) var places: [ExaminedPlace]

    package init(name: String, places: [ExaminedPlace]) {
        self.name = name
        self.places = places
    }
}
