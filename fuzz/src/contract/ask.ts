// Sends requests that must succeed: recipes use them to prepare other requests.

import { isSuccess } from './answers.ts'
import { draftOf, type Given, sentBy } from './draft.ts'
import { type Answer, type Line, shown } from './exchange.ts'
import type { Operation } from './operation.ts'

/** The body of the answer as JSON; its headers when it has no body. */
export type Ask = <Body>(operation: string, given: Given) => Promise<Body>

export function askBy(operations: readonly Operation[], line: Line): Ask {
  const send = senderOf(operations, line)
  return async <Body>(id: string, given: Given) => {
    const { body, headers } = await send(id, given)
    return (body.length > 0 ? JSON.parse(body.toString()) : headers) as Body
  }
}

export function senderOf(operations: readonly Operation[], line: Line) {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  return async (id: string, given: Given): Promise<Answer> => {
    const operation = byId.get(id)
    if (!operation) throw new Error(`the operation ${id} does not exist`)
    const sent = sentBy(operation, draftOf(given), given.credential ?? (() => ({})))
    const answer = await line.send(sent)
    if (!isSuccess(answer)) throw new Error(`${id}: ${answer.status} ${answer.body} for ${shown(sent)}`)
    return answer
  }
}
