import type { Endpoint } from '@svc/api/endpoint'
import { call, open } from './calls/call.ts'
import type { CallArguments } from './calls/input.ts'
import type { Context } from './context.ts'

type Operation = (context: Context, ...rest: never[]) => unknown
type Bound<F> = F extends (context: Context, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never

/** Functions that take the context first, as methods of a client that has one. */
export function bindOperations<Operations extends Record<string, Operation>>(context: Context, operations: Operations) {
  const bound = Object.entries<Operation>(operations).map(([name, operation]) => [
    name,
    (...rest: never[]) => operation(context, ...rest),
  ])
  return {
    ...(Object.fromEntries(bound) as { [Name in keyof Operations]: Bound<Operations[Name]> }),
    /** Any endpoint of `@svc/api`, typed by its declaration. */
    call: <E extends Endpoint>(endpoint: E, ...input: CallArguments<E>) => call(context, endpoint, ...input),
    /** The same, with the body left to be read as it comes. */
    open: <E extends Endpoint>(endpoint: E, ...input: CallArguments<E>) => open(context, endpoint, ...input),
  }
}
