import { abortUpload } from './multipart.ts'
import { Refusal } from './errors.ts'
import type { Store } from './bucket.ts'
import { textsIn } from './xml.ts'

/** Uploads first: one that is still under way cannot bring the object back then. */
export async function removeObject(store: Store, key: string): Promise<void> {
  for (const uploadId of await findUploads(store, key)) await abortUpload(store, key, uploadId)
  await store.ask({ method: 'DELETE', key }).catch((error) => {
    if (!(error instanceof Refusal && error.code === 'NoSuchKey')) throw error
  })
}

/** What was begun in parts and neither completed nor aborted: the parts are paid for. */
async function findUploads(store: Store, key: string): Promise<string[]> {
  try {
    const { text } = await store.ask({ method: 'GET', query: { uploads: '', prefix: key } })
    const keys = textsIn(text, 'Key')
    return textsIn(text, 'UploadId').filter((_, i) => keys[i] === key)
  } catch (error) {
    if (error instanceof Refusal && error.status === 501) return []
    throw error
  }
}
