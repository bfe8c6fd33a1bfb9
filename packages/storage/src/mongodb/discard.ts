import type { Bucket } from './bucket.ts'

/** One write of one object. */
export interface Write {
  bucket: Bucket
  id: string
  /** What its document and its chunks bear. */
  write: string
}

/** Removes all of one write. The claim goes last: as long as it is there the chunks are not forgotten. */
export async function discard({ bucket: { files, chunks, ask }, id, write }: Write): Promise<void> {
  await ask((options) => chunks.deleteMany({ files_id: id, write }, options))
  await ask((options) => files.deleteOne({ _id: id, 'metadata.write': write }, options))
}
