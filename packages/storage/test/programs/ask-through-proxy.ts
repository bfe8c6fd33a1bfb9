// Requests each given address, and prints the outcomes.

import { createAgent } from '../../src/http/agent.ts'
import { exchange, readText } from '../../src/http/exchange.ts'
import { HTTP_TIMEOUTS } from '../../src/timeouts.ts'

for (const url of process.argv.slice(2)) {
  const asking = exchange({ method: 'GET', url }, createAgent(url, { keepAlive: true }), HTTP_TIMEOUTS)
  console.log(
    await asking.then(
      ({ answer }) => readText(answer, HTTP_TIMEOUTS),
      (error) => error.message,
    ),
  )
}
process.exit()
