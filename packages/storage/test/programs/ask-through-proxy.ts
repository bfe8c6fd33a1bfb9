// Asks at each address it is given, and prints what came of it.

import { createAgent } from '../../src/http/agent.ts'
import { exchange } from '../../src/http/exchange.ts'
import { PATIENCE } from '../../src/timeouts.ts'
import { readText } from '../../src/http/read-text.ts'

for (const url of process.argv.slice(2)) {
  const asking = exchange({ method: 'GET', url, headers: {} }, null, createAgent(url, { keepAlive: true }), PATIENCE)
  console.log(
    await asking.then(
      ({ answer }) => readText(answer, PATIENCE.idleMs),
      (error) => error.message,
    ),
  )
}
process.exit()
