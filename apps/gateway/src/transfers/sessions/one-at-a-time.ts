export type OneAtATime = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/** Work on one key is done piece after piece, in the order it was asked for. */
export function oneAtATime(): OneAtATime {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
