/** Work of one name waits for work of that name that began before; what became of that does not matter. */
export type InTurn = <T>(name: string, work: () => Promise<T>) => Promise<T>

export function oneAtATime(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const before = last.get(name) ?? Promise.resolve()
    const task = before.then(work, work)
    last.set(name, task)
    const forget = () => void (last.get(name) === task && last.delete(name))
    task.then(forget, forget)
    return task
  }
}
