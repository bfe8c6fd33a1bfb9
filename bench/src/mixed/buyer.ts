// Buyers who perform every operation of a gateway in sequence until they are stopped.

import { ed25519Identity } from '@svc/devnet/services/signing'
import { isSettled, type LockerEntry } from './ledger.ts'
import { buyLocker, type Payer } from './purchase.ts'
import type { Shopper } from './shopper.ts'
import { deleteFile, readPublicly, storeFile } from './uploads.ts'

const SIZES = [1, 900, 20_000, 150_000, 400_000]

interface Habits {
  /** The share of visits at which they buy another locker instead of using theirs. */
  buys: number
  /** The first locker; without it they buy one. */
  first?: LockerEntry
}

/** One buyer: buys lockers, fills them, has them attested and published, reads, replaces and deletes. */
export async function shop(shopper: Shopper, payer: Payer, habits: Habits, stop: AbortSignal): Promise<void> {
  const { random } = shopper
  let locker = habits.first ?? null
  // Several buyers may share a locker: each reads, replaces and deletes only its own files.
  const own = new Set<string>()
  while (!stop.aborted) {
    if (locker === null || random.chance(habits.buys)) locker = await buyLocker(shopper, payer)
    if (locker === null) continue
    const count = random.between(1, 3)
    for (let i = 0; i < count && !stop.aborted; i++) {
      const filename = `${random.pick(['a', 'b/c', 'd e'])}/${random.below(1e9)}.bin`
      await storeFile(shopper, locker, filename, random.bytes(random.pick(SIZES)))
      own.add(filename)
    }
    if (!stop.aborted) await visit(shopper, locker, own)
  }
}

async function visit(shopper: Shopper, locker: LockerEntry, own: ReadonlySet<string>): Promise<void> {
  const { random } = shopper
  const settled = [...locker.files].filter(([name, file]) => own.has(name) && isSettled(file)).map(([name]) => name)
  if (settled.length > 0) {
    await readPublicly(shopper, locker, random.pick(settled))
    if (random.chance(0.3)) await storeFile(shopper, locker, random.pick(settled), random.bytes(random.pick(SIZES)))
    await attest(shopper, locker)
    await readEvidence(shopper, locker)
    if (random.chance(0.3)) await deleteFile(shopper, locker, random.pick(settled))
  }
  if (random.chance(0.5)) await changeOperators(shopper, locker)
  await shopper.signed(locker.owner, 'list files', {
    ...locker,
    path: `/v1/lockers/${locker.lockerId}/files`,
    ops: ['locker:list'],
  })
  await shopper.client.send({ operation: 'price', method: 'GET', path: '/v1/price' })
}

/** Adds an operator key or removes an added one. */
async function changeOperators(shopper: Shopper, locker: LockerEntry): Promise<void> {
  const { random } = shopper
  const present = [...locker.operators].filter(([, possible]) => !possible.has(false)).map(([key]) => key)
  const isRemoval = present.length > 0 && random.chance(0.6)
  const pubkey = isRemoval ? random.pick(present) : ed25519Identity(random.bytes(32)).identity
  const possible = locker.operators.get(pubkey) ?? new Set([false])
  locker.operators.set(pubkey, possible.add(!isRemoval))
  const path = `/v1/lockers/${locker.lockerId}/operators`
  const call = isRemoval ? { method: 'DELETE', path: `${path}/${pubkey}` } : { method: 'POST', path, body: { pubkey } }
  const about = { ...locker, ...call, ops: ['locker:admin'] }
  const done = await shopper.signed(locker.owner, 'change operators', about, ['OPERATOR_NOT_FOUND'])
  if (done) locker.operators.set(pubkey, new Set([!isRemoval]))
}

interface Attested {
  evidence_seq: number
  envelope: { statement_digest: string }
}

/** Attests a locker and publishes the statement. */
export async function attest(shopper: Shopper, locker: LockerEntry): Promise<void> {
  const path = `/v1/storage/attest?receipt_id=${locker.receiptId}&sync=true`
  const call = { ...locker, method: 'POST', path, ops: ['locker:attest'] }
  const attested = await shopper.signed(locker.owner, 'attest', call)
  if (!attested) return
  const { evidence_seq: sequence, envelope } = attested.attestation as Attested
  recordOnce(shopper, locker.statements, sequence, envelope.statement_digest, 'statement')
  const body = { receipt_id: locker.receiptId }
  const push = { ...locker, method: 'POST', path: '/v1/attest/push', body, ops: ['locker:attest'] }
  const pushed = await shopper.signed(locker.owner, 'publish', push)
  const anchor = pushed?.anchor as { tx: string; statement_digest: string } | null | undefined
  const anchored = anchor && [...locker.statements].find(([, digest]) => digest === anchor.statement_digest)
  if (anchored) recordOnce(shopper, locker.anchors, anchored[0], anchor.tx, 'anchor')
}

function recordOnce({ ledger }: Shopper, known: Map<number, string>, sequence: number, value: string, what: string) {
  const before = known.get(sequence)
  if (before !== undefined && before !== value) ledger.violations.push(`there are two ${what}s ${sequence}`)
  known.set(sequence, value)
}

async function readEvidence({ client, random }: Shopper, { receiptId }: LockerEntry): Promise<void> {
  const name = random.pick(['evidence-bundle', 'verify', 'statements'])
  const path = `/v1/storage/${name}?receipt_id=${receiptId}`
  await client.send({ operation: 'evidence', method: 'GET', path })
}
