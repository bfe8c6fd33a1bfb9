// For tests: uses the client in a web page.

import { createClient } from '../../src/client.ts'
import { decryptedDownload, encrypted, walletKey } from '../../src/encryption/index.ts'
import { storageJournal } from '../../src/journal.ts'
import { signerFromSeed } from '../../src/signers.ts'

interface PageTask {
  baseUrl: string
  seed: number[]
  pinnedKeys: string[]
  locker: { locker_id: string; receipt_id: string }
}

async function run({ baseUrl, seed, pinnedKeys, locker }: PageTask) {
  const signer = signerFromSeed(Uint8Array.from(seed))
  const client = createClient({ baseUrl, signer, pinnedKeys, journal: storageJournal() })
  // The clock of this client is an hour behind.
  const late = createClient({ baseUrl, signer, pinnedKeys }, { now: () => Date.now() - 3_600_000 })
  const bytes = crypto.getRandomValues(new Uint8Array(60_000))
  const blob = new Blob(Array(5).fill(bytes), { type: 'image/png' })
  const whole = await client.put(locker, 'whole.png', blob)
  const inParts = await client.put(locker, 'in/parts', blob.stream())
  const download = await late.get(locker, 'whole.png')
  const { length } = await download.bytes()
  const key = await walletKey(signer)
  await client.put(locker, 'secret.age', await encrypted(blob, 'secret.age', key))
  const secret = await (await decryptedDownload(await client.get(locker, 'secret.age'), [key])).bytes()
  const isDecrypted = secret.every((byte, i) => byte === bytes[i % bytes.length])
  const { attestation } = await client.attest(locker)
  const names: string[] = []
  for await (const { filename } of client.files(locker)) names.push(filename)
  const { units } = await client.receipt(locker.receipt_id)
  const found: string[] = []
  for await (const { receipt_id } of client.lockers()) found.push(receipt_id)
  const { contentType } = download
  const isSame = whole.content_hash === inParts.content_hash
  const count = attestation.file_count
  return { length, isSame, isDecrypted, contentType, count, names, units, found, left: localStorage.length }
}

declare global {
  var runInPage: typeof run
}
globalThis.runInPage = run
