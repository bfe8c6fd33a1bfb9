// The page's side of its worker.

import type { Call, Calls, FromWorker, Step, ToWorker } from './messages.ts'

export class WorkFailed extends Error {
  /** The status of the answer, if something was fetched. */
  readonly status: number | null
  readonly hint: string | null

  constructor({ name, message, status, hint }: Extract<FromWorker, { error: object }>['error']) {
    super(message)
    this.name = name
    this.status = status
    this.hint = hint
  }
}

export interface CheckWorker {
  call<C extends Call>(
    call: C,
    argument: Parameters<Calls[C]>[0],
    run?: { onStep?: (step: Step) => void; signal?: AbortSignal },
  ): ReturnType<Calls[C]>
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
  onStep?: ((step: Step) => void) | undefined
}

/** Calls `start` again after a worker died, for example out of memory. */
export function createCheckWorker(start: () => Worker): CheckWorker {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | null = null
  let last = 0

  function running(): Worker {
    if (worker) return worker
    const started = start()
    started.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => receive(data))
    started.addEventListener('error', (event) => {
      event.preventDefault()
      started.terminate()
      worker = null
      const error = { name: 'WorkerError', message: event.message ?? '', status: null, hint: null }
      for (const id of [...waiting.keys()]) receive({ id, error })
    })
    worker = started
    return started
  }

  function receive(message: FromWorker): void {
    const call = waiting.get(message.id)
    if (!call) return
    if ('step' in message) {
      call.onStep?.(message.step)
      return
    }
    waiting.delete(message.id)
    if ('error' in message) call.reject(new WorkFailed(message.error))
    else call.resolve(message.value)
  }

  return {
    call(call, argument, { onStep, signal } = {}) {
      const id = ++last
      const answered = new Promise((resolve, reject) => waiting.set(id, { resolve, reject, onStep }))
      const post = (message: ToWorker) => running().postMessage(message)
      post({ id, call, argument })
      signal?.addEventListener('abort', () => post({ cancel: id }))
      return answered as ReturnType<Calls[typeof call]>
    },
  }
}
