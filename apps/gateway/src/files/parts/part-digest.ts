// The digest in the row of a part. It is the part's SHA-256 in hex if the client sends or requests it, or if it is the
// hash of the file. Otherwise it is a cheap checksum with a random id: the checksum detects damage, and the id
// distinguishes the part from every other part, whatever bytes its sender chose.

import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const FORM = /^crc32:[0-9a-f]{8}:[0-9a-f]{16}$/

interface RunningChecksum {
  update(chunk: Uint8Array): void
  digest(): string
}

export function startChecksum(): RunningChecksum {
  const crc = runningCrc()
  return { update: crc.update, digest: () => `crc32:${crc.hex()}:${randomBytes(8).toString('hex')}` }
}

export function isSha256(digest: string): boolean {
  return !FORM.test(digest)
}

/** Verifies that bytes match a digest. */
export function startCheck(digest: string): { update(chunk: Uint8Array): void; isSame(): boolean } {
  if (isSha256(digest)) {
    const sha256 = createHash('sha256')
    return { update: (chunk) => void sha256.update(chunk), isSame: () => sha256.digest('hex') === digest }
  }
  const crc = runningCrc()
  return { update: crc.update, isSame: () => crc.hex() === digest.split(':')[1] }
}

function runningCrc() {
  let crc = 0
  return {
    update(chunk: Uint8Array) {
      crc = crc32(chunk, crc)
    },
    hex: () => crc.toString(16).padStart(8, '0'),
  }
}
