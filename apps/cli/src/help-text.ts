// What `svc --help` teaches below its lists.

export const AFTER_HELP = `
A locker from beginning to end:
  $ svc config set gateway https://gateway.example
  $ svc keys pin                            trust this gateway's keys from here on
  $ svc quote                               what it costs, in every asset
  $ svc buy --asset USDC --name photos      asks before it pays; repeated, it pays once
  $ svc put ./photos                        a folder: in parallel, goes on where it was cut
  $ svc attest                              the gateway signs what it holds, and publishes that
  $ svc bundle -o bundle.json               all the evidence, in one file
  $ svc verify bundle.json --dir ./photos   checks it without asking anybody

Have it watched by the agent service:
  $ svc subscribe --asset USDC              thirty days, or thirty more; asks before it pays
  $ svc delegate photos                     lets it in: it reads everything back, and compares
  $ svc delegations                         what it has found, in a signed log

Try it without money or a gateway, in a clone of the repository:  svc demo

Exit codes:
  0  done                    3  verification failed
  1  failed                  4  payment trouble: money may have moved; run the same command again
  2  wrong usage             130  interrupted

Settings come from options, then variables, then $XDG_CONFIG_HOME/svc/config.json (\`svc config\`).
SVC_DEBUG=1 adds stack traces to errors. NO_COLOR is honoured. Behind a proxy: NODE_USE_ENV_PROXY=1
with HTTPS_PROXY.
`
