import { buffer } from 'node:stream/consumers'
import type { NamedFiles } from '../named-files.ts'
import { HTTP_TIMEOUTS } from '../timeouts.ts'
import { openBucket } from './bucket.ts'
import { hasCode } from './errors.ts'
import { readObject } from './read.ts'
import type { BucketSettings } from './settings.ts'

export function openBucketFiles(settings: BucketSettings, timeouts = HTTP_TIMEOUTS): NamedFiles {
  const bucket = openBucket(settings, timeouts)
  const keyOf = (name: string) => settings.prefix + name
  return {
    async read(name) {
      const stream = await readObject(bucket, keyOf(name))
      return stream && buffer(stream)
    },
    async write(name, bytes) {
      await bucket.ask({ method: 'PUT', key: keyOf(name), body: Buffer.from(bytes) })
    },
    async remove(name) {
      await bucket.ask({ method: 'DELETE', key: keyOf(name) }).catch((error) => {
        if (!hasCode(error, 'NoSuchKey')) throw error
      })
    },
  }
}
