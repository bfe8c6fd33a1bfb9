import { createHash } from 'node:crypto'
import type { SettlingObject } from '../slow-store.ts'
import { commitPiece } from './commit-piece.ts'
import type { Notes } from './notes.ts'
import { openPdp } from './pdp.ts'
import { cidOf, MAX_BYTES, refOf, withZeros } from './piece.ts'
import type { Filecoin, Run } from './run.ts'
import { uploadPiece } from './upload-piece.ts'

export async function settle(filecoin: Filecoin, object: SettlingObject): Promise<{ ref: string }> {
  if (object.size > MAX_BYTES) throw new RangeError('the object is larger than a piece may be')
  const run: Run = {
    ...filecoin,
    object,
    pdp: openPdp(filecoin.pdpUrl, filecoin.patience, object.signal),
    notes: object.notes as Notes, // as noted below, or null before that
    async note(notes) {
      await object.note(notes)
      run.notes = notes
    },
  }
  try {
    if (run.notes === null) await run.note({ piece: await findPiece(filecoin, object) })
    if (!run.notes.commit) await uploadPiece(run)
    await commitPiece(run)
    return { ref: refOf({ cid: run.notes.piece, size: object.size }) }
  } finally {
    run.pdp.close()
  }
}

/** What is committed to are the bytes that were confirmed, or nothing is. */
async function findPiece({ commitmentOf }: Filecoin, object: SettlingObject): Promise<string> {
  const sha256 = createHash('sha256')
  async function* watched() {
    for await (const chunk of (await object.open()) as AsyncIterable<Buffer>) {
      object.signal.throwIfAborted()
      sha256.update(chunk)
      yield chunk
    }
  }
  const multihash = await commitmentOf(withZeros(watched(), object))
  if (sha256.digest('hex') !== object.sha256) throw new Error('the bytes are not those that were staged')
  return cidOf(multihash)
}
