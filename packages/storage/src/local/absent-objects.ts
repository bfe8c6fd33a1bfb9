import { lstatThread } from './lstat-thread.ts'
import { statObject } from './read.ts'

/** So many are asked about in less time than the way to another thread takes. */
const FEW = 100

/** Which of these objects are not there. */
type FindAbsent = (ids: readonly string[]) => Promise<Set<string>>

/** Many are looked at in a thread of its own: asked for one by one, a million would take a minute. */
export function createAbsenceFinder(objectPath: (id: string) => string): FindAbsent {
  const thread = lstatThread()
  return async (ids) => {
    const isThere =
      ids.length > FEW
        ? await thread(ids.map(objectPath))
        : await Promise.all(ids.map(async (id) => (await statObject(objectPath(id))) !== null))
    return new Set(ids.filter((_, i) => !isThere[i]))
  }
}
