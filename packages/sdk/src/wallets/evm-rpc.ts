// JSON-RPC to a node of an EVM chain. Questions of one moment go out together: so one node answers them all.

/** The result of one question; throws what the node says against it. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

interface Question {
  method: string
  params: readonly unknown[]
  resolve(result: unknown): void
  reject(error: unknown): void
}

interface Answer {
  id?: unknown
  result?: unknown
  error?: { message?: unknown }
}

const TIMEOUT_MS = 10_000
/** Milliseconds before a node that is busy or cannot be reached is asked again. */
const PAUSES = [150, 300, 600]
const MAX_MESSAGE = 300

export function askInBatches(rpcUrl: string): Ask {
  let waiting: Question[] = []

  async function send(): Promise<void> {
    const questions = waiting
    waiting = []
    try {
      const answers = await post(rpcUrl, questions)
      for (const [i, question] of questions.entries()) {
        const answer = answers.find(({ id }) => id === i + 1)
        settle(question, answer)
      }
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }

  return (method, params) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setTimeout(send, 0)
      waiting.push({ method, params, resolve, reject })
    })
}

function settle({ method, resolve, reject }: Question, answer: Answer | undefined): void {
  if (answer?.result !== undefined) resolve(answer.result)
  else reject(answer?.error ? refusal(answer) : new Error(`the node does not answer ${method}`))
}

function refusal({ error }: Answer): Error {
  return new Error(String(error?.message ?? 'the node refuses').slice(0, MAX_MESSAGE))
}

async function post(rpcUrl: string, questions: readonly Question[]): Promise<Answer[]> {
  const body = JSON.stringify(questions.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: i + 1, method, params })))
  for (let failures = 0; ; failures++) {
    try {
      return await postOnce(rpcUrl, body)
    } catch (error) {
      const pause = PAUSES[failures]
      if (pause === undefined) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

async function postOnce(rpcUrl: string, body: string): Promise<Answer[]> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`the node answers HTTP ${response.status}`)
  const answers: Answer | Answer[] = await response.json()
  if (Array.isArray(answers)) return answers
  throw refusal(answers)
}
