// What needs nothing but Files is a target of its own, for the tests of what needs no more either.
@_exported public import TestTools
