// QuickFIX/Go as the peer that ../README.md describes.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quickfixgo/quickfix"
	logfile "github.com/quickfixgo/quickfix/log/file"
	"github.com/quickfixgo/quickfix/store/file"
)

type members map[string]any

var out sync.Mutex

func event(name string, of members) {
	line := members{"event": name}
	for key, value := range of {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	out.Lock()
	defer out.Unlock()
	fmt.Println(string(text))
}

type peer struct {
	id        quickfix.SessionID
	logon     int
	resetNext atomic.Bool
	farewell  atomic.Value
	sent      int
	reports   int
	answered  map[string]bool
}

func text(fields *quickfix.FieldMap, tag quickfix.Tag) string {
	value, err := fields.GetString(tag)
	if err != nil {
		return ""
	}
	return value
}

func readable(message *quickfix.Message) string {
	return strings.ReplaceAll(message.String(), "\x01", "|")
}

func (p *peer) OnCreate(quickfix.SessionID) {}
func (p *peer) OnLogon(quickfix.SessionID)  { event("logon", members{"seq": p.logon}) }
func (p *peer) OnLogout(quickfix.SessionID) { event("logout", nil) }

func (p *peer) ToAdmin(m *quickfix.Message, _ quickfix.SessionID) {
	switch text(&m.Header.FieldMap, 35) {
	case "A":
		if p.resetNext.Load() {
			m.Body.SetBool(141, true)
		}
	case "5":
		if farewell, said := p.farewell.Load().(string); said {
			m.Body.SetString(58, farewell)
		}
	case "2":
		asked("asks", m)
	case "3":
		event("rejected", members{"text": "sent: " + readable(m)})
	}
}

func (p *peer) FromAdmin(m *quickfix.Message, _ quickfix.SessionID) quickfix.MessageRejectError {
	switch text(&m.Header.FieldMap, 35) {
	case "A":
		p.logon, _ = m.Header.GetInt(34)
		if text(&m.Body.FieldMap, 141) == "Y" {
			p.resetNext.Store(false)
			event("reset", nil)
		}
	case "2":
		asked("asked", m)
	case "3":
		event("rejected", members{"text": readable(m)})
	}
	return nil
}

func (p *peer) ToApp(m *quickfix.Message, _ quickfix.SessionID) error {
	if text(&m.Header.FieldMap, 35) == "j" {
		event("rejected", members{"text": "sent: " + readable(m)})
	}
	return nil
}

func (p *peer) FromApp(m *quickfix.Message, _ quickfix.SessionID) quickfix.MessageRejectError {
	id := text(&m.Body.FieldMap, 11)
	switch text(&m.Header.FieldMap, 35) {
	case "D":
		received("order", m)
		if !p.answered[id] {
			p.answered[id] = true
			p.report(id)
		}
	case "8":
		received("report", m)
	case "j":
		event("rejected", members{"text": readable(m)})
	default:
		return quickfix.UnsupportedMessageType()
	}
	return nil
}

func asked(name string, m *quickfix.Message) {
	event(name, members{"from": text(&m.Body.FieldMap, 7), "to": text(&m.Body.FieldMap, 16)})
}

func received(name string, m *quickfix.Message) {
	seq, _ := m.Header.GetInt(34)
	dup := text(&m.Header.FieldMap, 43) == "Y" || text(&m.Header.FieldMap, 97) == "Y"
	event(name, members{"id": text(&m.Body.FieldMap, 11), "seq": seq, "dup": dup})
}

func (p *peer) deliver(msgType string, fields map[quickfix.Tag]string) {
	m := quickfix.NewMessage()
	m.Header.SetString(8, p.id.BeginString)
	m.Header.SetString(35, msgType)
	for tag, value := range fields {
		m.Body.SetString(tag, value)
	}
	if err := quickfix.SendToTarget(m, p.id); err != nil {
		event("failed", members{"text": err.Error()})
	}
}

func (p *peer) send(count int) {
	for range count {
		p.sent++
		p.deliver("D", map[quickfix.Tag]string{
			11: fmt.Sprintf("%s-%d", p.id.SenderCompID, p.sent),
			21: "1", 55: "EFX", 54: "1", 38: "100", 40: "2", 44: "101.5",
			60: time.Now().UTC().Format("20060102-15:04:05.000"),
		})
	}
	event("sent", members{"total": p.sent})
}

func (p *peer) report(order string) {
	p.reports++
	number := fmt.Sprint(p.reports)
	fields := map[quickfix.Tag]string{
		37: "O" + number, 11: order, 17: "E" + number, 150: "0", 39: "0",
		55: "EFX", 54: "1", 151: "100", 14: "0", 6: "0",
	}
	if p.id.BeginString == "FIX.4.2" {
		fields[20] = "0"
	}
	p.deliver("8", fields)
}

type engine interface {
	Start() error
	Stop()
}

func (p *peer) engine(role string, settings *quickfix.Settings) engine {
	store, log := file.NewStoreFactory(settings), quickfix.NewNullLogFactory()
	var made engine
	var err error
	if os.Getenv("MESSAGE_LOG") != "" {
		log, err = logfile.NewLogFactory(settings)
		check(err)
	}
	if role == "acceptor" {
		made, err = quickfix.NewAcceptor(p, store, settings, log)
	} else {
		made, err = quickfix.NewInitiator(p, store, settings, log)
	}
	check(err)
	return made
}

func (p *peer) obey(role string, settings *quickfix.Settings) {
	running := p.engine(role, settings)
	check(running.Start())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var command string
		var count int
		_, _ = fmt.Sscan(lines.Text(), &command, &count)
		switch command {
		case "send":
			p.send(count)
		case "from":
			p.sent = count
		case "skip":
			next, err := quickfix.GetExpectedSenderNum(p.id)
			check(err)
			check(quickfix.SetNextSenderMsgSeqNum(p.id, next+count))
		case "back":
			next, err := quickfix.GetExpectedTargetNum(p.id)
			check(err)
			check(quickfix.SetNextTargetMsgSeqNum(p.id, next-count))
		case "reset":
			p.resetNext.Store(true)
		case "farewell":
			p.farewell.Store(strings.TrimPrefix(lines.Text(), "farewell "))
		case "logout":
			// There is no other way to end a session; the new engine has the old store.
			running.Stop()
			running = p.engine(role, settings)
		case "logon":
			check(running.Start())
		case "quit":
			return
		default:
			event("unknown", members{"command": command})
		}
	}
}

func main() {
	if len(os.Args) != 10 {
		fmt.Fprintln(os.Stderr, "usage: peer initiator|acceptor PORT SENDER TARGET DICTIONARY CERTIFICATES START END VERSION")
		os.Exit(2)
	}
	role, port, sender, target, version := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[9]
	lines := []string{
		"[DEFAULT]", "HeartBtInt=30", "ReconnectInterval=1", "FileStorePath=store", "FileStoreSync=N",
		"SocketAcceptHost=127.0.0.1", "SocketAcceptPort=" + port,
		"SocketConnectHost=127.0.0.1", "SocketConnectPort=" + port, "DataDictionary=" + os.Args[5],
		"StartTime=" + os.Args[7], "EndTime=" + os.Args[8],
	}
	if folder := os.Getenv("MESSAGE_LOG"); folder != "" {
		lines = append(lines, "FileLogPath="+folder)
	}
	if folder := os.Args[6]; folder != "" {
		lines = append(lines, "SocketUseSSL=Y", "SocketServerName=fixwire.test", "SocketCAFile="+folder+"/ca.pem",
			"SocketCertificateFile="+folder+"/peer.pem", "SocketPrivateKeyFile="+folder+"/peer.key")
	}
	lines = append(lines,
		"[SESSION]", "BeginString="+version, "SenderCompID="+sender, "TargetCompID="+target, "")
	settings, err := quickfix.ParseSettings(strings.NewReader(strings.Join(lines, "\n")))
	check(err)
	p := &peer{
		id:       quickfix.SessionID{BeginString: version, SenderCompID: sender, TargetCompID: target},
		answered: map[string]bool{},
	}
	p.obey(role, settings)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}
