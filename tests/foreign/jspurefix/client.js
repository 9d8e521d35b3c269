// jspurefix as the client that ../README.md describes.
'use strict'

require('reflect-metadata')
const readline = require('readline')
const { AsciiSession, DITokens, EmptyLogFactory, SessionLauncher } = require('jspurefix')
const { TcpInitiatorConnector } = require('jspurefix/dist/transport/tcp')

function event (name, members = {}) {
  process.stdout.write(JSON.stringify({ event: name, ...members }) + '\n')
}

/** A message on the wire. */
function passed (way, type, text) {
  const value = tag => (text.match(new RegExp(`\\|${tag}=([^|]*)`)) ?? ['', ''])[1]
  const dup = value(43) === 'Y' || value(97) === 'Y'
  event(way, { type, seq: Number(value(34)), dup, id: value(11) })
}

class Client extends AsciiSession {
  constructor (config) {
    super(config)
    this.total = 0
    /** Orders without a number, and those that have one. */
    this.waiting = []
    this.kept = new Map()
    this.isReady = false
  }

  get transmitter () {
    return this.transport.transmitter
  }

  onDecoded (type, text) {
    passed('in', type, text)
    if (type === 'A') event('logon', { seq: Number(text.match(/\|34=(\d+)/)[1]) })
    if (type === '3' || type === 'j') event('rejected', { text })
  }

  onEncoded (type, text) {
    passed('out', type, text)
  }

  onApplicationMsg (type, view) {
    const report = view.toObject()
    const header = report.StandardHeader
    const dup = header.PossDupFlag === true || header.PossResend === true
    if (type === '8') event('report', { id: report.ClOrdID, seq: header.MsgSeqNum, dup })
  }

  onLogon () {
    return true
  }

  onReady () {
    this.isReady = true
    this.sendNext()
  }

  onStopped () {
    this.isReady = false
  }

  order (id) {
    const now = new Date()
    this.waiting.push({
      ClOrdID: id, HandlInst: '1', Instrument: { Symbol: 'EFX' }, Side: '1', TransactTime: now,
      OrderQtyData: { OrderQty: 100 }, OrdType: '2', Price: 101.5
    })
  }

  // One at a time: what a broken connection leaves in the stream was never given a number, and jspurefix
  // forgets it.
  sendNext () {
    if (!this.isReady || this.waiting.length === 0) return
    const order = this.waiting[0]
    this.send('D', order, error => {
      if (error || this.waiting[0] !== order) return
      this.waiting.shift()
      if (this.waiting.length === 0) event('sent', { total: this.total })
      setImmediate(() => this.sendNext())
    })
  }

  txOnEncoded (type, text, header) {
    super.txOnEncoded(type, text, header)
    const { MsgSeqNum: seq, PossDupFlag: dup } = header
    if (type === 'D' && !dup) this.kept.set(seq, { order: this.waiting[0], time: header.SendingTime })
    // jspurefix stores the number of a message that is sent again as the last one.
    this.sessionStore.setSenderSeqNum(this.transmitter.msgSeqNum)
  }

  // jspurefix keeps nothing of what it sends unless told to, leaves out a gap fill of one number at the end, and
  // closes the connection when an application message arrives while it resends.
  onResendRequest (view) {
    const object = view.toObject()
    const last = object.EndSeqNo === 0 ? this.transmitter.msgSeqNum - 1 : object.EndSeqNo
    let gap = object.BeginSeqNo
    const fill = next => {
      if (gap < next) {
        const header = { MsgSeqNum: gap, PossDupFlag: true, SendingTime: new Date() }
        this.send('4', { StandardHeader: header, GapFillFlag: true, NewSeqNo: next })
      }
    }
    for (let seq = gap; seq <= last; seq++) {
      const kept = this.kept.get(seq)
      if (kept === undefined) continue
      fill(seq)
      const header = { MsgSeqNum: seq, PossDupFlag: true, SendingTime: kept.time }
      this.send('D', { StandardHeader: header, ...kept.order })
      gap = seq + 1
    }
    fill(last + 1)
  }

  obey (command, count) {
    switch (command) {
      case 'send':
        for (let i = 0; i < count; i++) this.order(`${this.config.description.SenderCompId}-${++this.total}`)
        this.sendNext()
        break
      case 'skip':
        this.transmitter.msgSeqNum += count
        break
      case 'back':
        this.sessionState.lastPeerMsgSeqNum -= count
        break
      case 'logout':
        this.done()
        break
      default:
        event('unknown', { command })
    }
  }
}

class Launcher extends SessionLauncher {
  constructor (description) {
    super(description, null, new EmptyLogFactory())
  }

  makeFactory (config) {
    this.config = config
    return { makeSession: () => (this.session ??= new Client(config)) }
  }

  // Not by itself.
  async getInitiator () {}

  async logOn () {
    const container = this.config.sessionContainer
    const session = container.resolve(DITokens.FixSession)
    // A session that was stopped takes no other transport.
    session.reset()
    try {
      await container.resolve(TcpInitiatorConnector).connect(session)
    } catch (error) {
      event('ended', { text: error.message })
    }
    event('logout')
  }
}

async function main () {
  const [port, SenderCompId, TargetCompID] = process.argv.slice(2)
  const launcher = new Launcher({
    application: {
      type: 'initiator',
      name: 'client',
      protocol: 'ascii',
      dictionary: 'qf44',
      tcp: { host: '127.0.0.1', port: Number(port) }
    },
    BeginString: 'FIX.4.4',
    SenderCompId,
    TargetCompID,
    HeartBtInt: 30,
    EncryptMethod: 0,
    ResetSeqNumFlag: false
  })
  await launcher.run()
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, count] = line.split(' ')
    if (command === 'quit') process.exit(0)
    if (command === 'logon') launcher.logOn()
    else launcher.session.obey(command, Number(count))
  }
}

main()
