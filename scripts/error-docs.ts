// `npm run docs` writes docs/errors.md from the declared codes. With `--check` it writes nothing and fails when the page
// is out of date.

import { readFileSync, writeFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { agentEndpoints } from '../packages/api/src/agent/agent.ts'
import type { Endpoint } from '../packages/api/src/endpoint.ts'
import { ERROR_GUIDE } from '../packages/api/src/error-guide.ts'
import { ERROR_STATUS, type ErrorCode, errorStatus } from '../packages/api/src/errors.ts'
import { gatewayEndpoints } from '../packages/api/src/gateway.ts'

const PAGE = 'docs/errors.md'
const page = errorPage()

if (process.argv.includes('--check')) {
  if (readFileSync(PAGE, 'utf8') === page) process.exit(0)
  console.error(`${PAGE} is out of date: npm run docs`)
  process.exit(1)
}
writeFileSync(PAGE, page)

function errorPage(): string {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[]
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code])
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, those]) => `## ${status} ${STATUS_CODES[status]}\n\n${those.map(entry).join('\n')}`)
  return `# Errors

Written by \`npm run docs\` from \`packages/api/src\`. Edit \`error-guide.ts\` there, not this file.

Every error of the gateway and of the agent service is JSON with the code in \`error\`, a \`message\` and often a \`hint\`
for people, a \`request_id\` for the gateway's log, and \`docs_url\`: the entry below, served by the service itself at
\`/errors/{code}\`. The code determines the status and never changes its meaning, so programs can rely on it. The command
line shows the URL as \`more:\`. [http.md](http.md#retries) lists the requests that may be repeated.

${sections.join('\n')}`
}

function entry(code: ErrorCode): string {
  const { cause, next } = ERROR_GUIDE[code]
  const bodyless = errorStatus(code, 'GET')
  const otherStatus = bodyless === ERROR_STATUS[code] ? '' : ` (${bodyless} for requests without a body)`
  return `### ${code}\n\n${cause}\n\n**Next:** ${next}\n\nAnswered by the ${services(code)}${otherStatus}.\n`
}

/** Any request may return a code that no endpoint declares. */
function services(code: ErrorCode): string {
  const isDeclared = (endpoints: readonly Endpoint[]) => endpoints.some(({ errors = [] }) => errors.includes(code))
  const [byGateway, byAgent] = [isDeclared(gatewayEndpoints), isDeclared(agentEndpoints)]
  if (byGateway === byAgent) return 'gateway and the agent service'
  return byGateway ? 'gateway' : 'agent service'
}
