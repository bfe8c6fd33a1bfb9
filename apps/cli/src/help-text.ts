// What `svc --help` teaches below its lists.

export const AFTER_HELP = `
A locker from beginning to end:
  $ svc config set gateway https://gateway.example
  $ svc keys pin                            trust this gateway's keys from here on
  $ svc quote                               what it costs, in every asset
  $ svc buy --asset USDC --name photos      asks before it pays; repeat it after any trouble, it pays once
  $ svc put ./photos                        a folder: in parallel, goes on where it was cut
  $ svc attest                              the gateway signs what it holds, and publishes that on chain
  $ svc bundle -o bundle.json               all the evidence, in one file
  $ svc verify bundle.json --dir ./photos   checks it without asking anybody

Try it without money or a gateway:  svc demo

Exit codes:
  0  done                    3  verification failed
  1  failed                  4  payment trouble: money may have moved; run the same command again
  2  wrong usage             130  interrupted

Settings come from options, then variables, then $XDG_CONFIG_HOME/svc/config.json (\`svc config\`).
SVC_DEBUG=1 adds stack traces to errors. NO_COLOR is honoured.
`
