// SHA-256 for other packages: OpenSSL's on servers, noble's in browsers.

export { sha256Hex, sha256Stream } from '#crypto'
