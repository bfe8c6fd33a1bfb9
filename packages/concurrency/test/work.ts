// For tests: work that starts when it is called and ends when the test ends it.

export function controlledWork() {
  const started: string[] = []
  const running = new Map<string, PromiseWithResolvers<string>>()
  return {
    started,
    work: (name: string) => () => {
      started.push(name)
      const result = Promise.withResolvers<string>()
      running.set(name, result)
      return result.promise
    },
    end: (name: string) => running.get(name)!.resolve(name),
    fail: (name: string) => running.get(name)!.reject(new Error(name)),
  }
}
