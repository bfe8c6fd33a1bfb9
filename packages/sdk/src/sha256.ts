import { toHex } from '@svc/protocol/bytes'
import { sha256Stream as nobleStream, type Sha256Stream } from '@svc/protocol/crypto-noble'

// Node's own is ten times faster. Asked for at run time: an import would break what is bundled for browsers.
const node = globalThis.process?.getBuiltinModule?.('node:crypto')

/** Of bytes that come piece by piece. */
export function sha256Stream(): Sha256Stream {
  if (!node) return nobleStream()
  const hash = node.createHash('sha256')
  return { update: (data) => void hash.update(data), hex: () => hash.digest('hex') }
}

/** Of bytes that are all there: a browser has that built in, if only for pages that came over a safe line. */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  const subtle = node ? undefined : globalThis.crypto?.subtle
  if (subtle) return toHex(new Uint8Array(await subtle.digest('SHA-256', bytes as BufferSource)))
  const hash = sha256Stream()
  hash.update(bytes)
  return hash.hex()
}
