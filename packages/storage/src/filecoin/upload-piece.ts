import { ProviderError } from '../provider.ts'
import { NotYet, until } from './patience.ts'
import { lengthOf, withZeros } from './piece.ts'
import { Refusal } from './errors.ts'
import type { Run } from './run.ts'

/** Brings the bytes to the provider, or goes on with it. What the provider has is not sent. */
export async function uploadPiece(run: Run): Promise<void> {
  const { pdp, notes } = run
  const { piece, upload } = notes
  if (await pdp.hasPiece(piece)) return
  if (upload?.isWhole) return finish(run, upload.id)
  // All may have come, with nobody there to hear it.
  if (upload && (await pdp.finishUpload(upload.id, piece)) === 200) return waitForPiece(run)
  await finish(run, await send(run))
}

async function send({ pdp, object, notes: { piece }, note }: Run): Promise<string> {
  const id = await pdp.beginUpload()
  await note({ piece, upload: { id, isWhole: false } })
  const bytes = await object.open()
  try {
    await pdp.send(id, withZeros(bytes, object), lengthOf(object))
  } finally {
    bytes.destroy()
  }
  await note({ piece, upload: { id, isWhole: true } })
  return id
}

async function finish(run: Run, upload: string): Promise<void> {
  const { pdp, notes, note } = run
  const { piece } = notes
  const status = await pdp.finishUpload(upload, piece)
  if (status === 200) return waitForPiece(run)
  if (status !== 404 && status !== 400) throw new Refusal('POST', '/pdp/piece/uploads', status, '')
  try {
    if (status === 400) throw new ProviderError('unavailable', new Error('the provider has other bytes than were sent'))
    // It is not known any more once it is finished, which may have been unheard.
    await waitForPiece(run)
  } catch (error) {
    if (status === 400 || error instanceof NotYet) await note({ piece })
    throw error
  }
}

async function waitForPiece({ pdp, notes, object, patience }: Run): Promise<void> {
  await until(patience, object.signal, 'a piece', async () => (await pdp.hasPiece(notes.piece)) || null)
}
