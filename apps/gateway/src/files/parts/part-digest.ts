// What the row of a part says of its bytes: their SHA-256 in hex where a client sends or asks for it, or where it is the
// file's; else a checksum, which costs little, and an id of its own. By the checksum a stored part is found damaged; the
// id tells it from any other part, whatever bytes its sender chose.

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

/** Reads bytes, and says whether they are those that had the digest. */
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
