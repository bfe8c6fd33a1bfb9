/**
 * Does the work, which is told whether there is a turn left for it: who has much to be done, or work that hangs, must
 * not keep all others waiting.
 */
export type InTurn = <T>(whose: string, atOnce: number, work: (isFree: boolean) => Promise<T>) => Promise<T>

/** Of this process alone: it is its workers that would all be taken. */
export function createTurns(): InTurn {
  const underWay = new Map<string, number>()
  return async (whose, atOnce, work) => {
    const before = underWay.get(whose) ?? 0
    underWay.set(whose, before + 1)
    try {
      return await work(before < atOnce)
    } finally {
      const left = (underWay.get(whose) as number) - 1
      if (left === 0) underWay.delete(whose)
      else underWay.set(whose, left)
    }
  }
}
