// Sends a request that must succeed: how recipes make what other requests need.

import { isSuccess } from './answers.ts'
import { draftOf, type Given, sentBy } from './draft.ts'
import { type Line, shown } from './exchange.ts'
import type { Description } from './operation.ts'

/** The body of the answer as JSON; its headers where it has no body. */
export type Ask = <Body>(operation: string, given: Given) => Promise<Body>

export function askBy({ operations }: Description, line: Line): Ask {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  return async <Body>(id: string, given: Given) => {
    const operation = byId.get(id)
    if (!operation) throw new Error(`there is no operation ${id}`)
    const sent = sentBy(operation, draftOf(given), given.credential ?? (() => ({})))
    const answer = await line.send(sent)
    if (!isSuccess(answer)) throw new Error(`${id}: ${answer.status} ${answer.body} for ${shown(sent)}`)
    return (answer.body.length > 0 ? JSON.parse(answer.body.toString()) : answer.headers) as Body
  }
}
